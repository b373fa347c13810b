#!/bin/sh
# A text for a person: on standard input, its receiver in the environment. Here a line "to<TAB>text" at the end of a file; exit status 0
# says that it is delivered.
[ "$CORDBOARD_OP" = deliver ] || { echo "this chat has no threads" >&2; exit 1; }
outbox=${1:?"usage: deliver.sh FILE"}
text=$(cat) && printf '%s\t%s\n' "$CORDBOARD_TO" "$text" >>"$outbox"

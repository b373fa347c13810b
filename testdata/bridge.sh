#!/bin/sh
# A chat bridge: every line on standard input is "peer<TAB>text", a message that a person wrote. Replies go out through deliver.sh.
#   channels: { NAME: { type: "exec", command: ["sh", ".../deliver.sh", "OUTBOX"] } }
#   bridge.sh NAME <incoming
channel=${1:?"usage: bridge.sh CHANNEL"}
tab=$(printf '\t')
number=0
while IFS="$tab" read -r peer text || [ -n "$peer" ]; do
	number=$((number + 1))
	[ -n "$text" ] || continue
	# The key makes a line that is brought in again the same message: a real bridge takes the id its chat service gives to each.
	printf '%s' "$text" |
		cordboard inbound --channel "$channel" --peer "$peer" --sender "$peer" --key "$channel-$peer-$number" - ||
		echo "line $number was not taken" >&2
done

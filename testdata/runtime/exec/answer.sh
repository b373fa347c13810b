# Answers with what it was given: the message, the session, the context file.
printf 'message: '
cat
printf '\nsession: %s\nrun: %s\nagent: %s\nextra: %s\nsocket: %s\ntoken: %s\nsecret: %s\npwd: %s\n' "$CORDBOARD_SESSION_KEY" "$CORDBOARD_RUN_ID" \
	"$CORDBOARD_AGENT_ID" "$EXTRA" "$CORDBOARD_SOCKET" "$CORDBOARD_TOKEN" "$OWNER_SECRET" "$(pwd)"
printf 'mode: %s %s\n' "$(stat -c %a "$CORDBOARD_CONTEXT")" "$(stat -c %a "$(dirname "$CORDBOARD_CONTEXT")")"
printf 'file: %s\n' "$CORDBOARD_CONTEXT"
cat "$CORDBOARD_CONTEXT"
printf '\n\n'

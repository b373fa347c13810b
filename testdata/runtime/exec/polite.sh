# Ends by itself when asked to, and leaves a word.
trap 'echo "asked to go"; exit 0' TERM
echo ready
while :; do sleep 1000 & wait $!; done

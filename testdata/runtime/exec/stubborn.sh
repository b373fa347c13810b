# Ignores TERM, has a child that does, and holds the fifo $1 open as long as any of them lives. Says there when all are.
trap '' TERM
exec 9>"$1"
(while :; do sleep 1000; done) &
echo there >&9
echo ready
while :; do sleep 1000; done

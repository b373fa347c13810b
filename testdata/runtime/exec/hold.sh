# Holds the fifo $1 open for ever, and says there on it.
exec 9>"$1"
echo there >&9
exec sleep 100000

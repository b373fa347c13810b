# Leaves a child behind in a group of its own that holds the output until the fifo $1 is written to; it says on $1.open that it is there.
setsid sh -c 'echo >"$1.open"; read -r _ <"$1"' escaped "$1" &
read -r _ <"$1.open"
echo done

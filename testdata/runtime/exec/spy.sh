# Tells what it can see of the directory $1, and reads its message and context all the same.
if [ -e "$1/cordboard.db" ]; then echo "it is there"; else echo "nothing is there"; fi
cat
grep -c '"runId"' "$CORDBOARD_CONTEXT"

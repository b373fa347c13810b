# Writes a gigabyte to standard output and a megabyte to standard error, then one line more.
head -c 1073741824 /dev/zero | tr '\0' 'x'
head -c 1048576 /dev/zero | tr '\0' 'e' >&2
echo end >&2
exit 3

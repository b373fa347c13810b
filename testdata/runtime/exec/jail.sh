# A sandbox command, run as `unshare -Urm sh jail.sh DIR -- command…`: hides the directory DIR from the command.
dir=$1
shift 2
mount -t tmpfs none "$dir" || exit 125
exec "$@"

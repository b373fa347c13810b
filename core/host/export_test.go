package host

// What tests of the package's outside need of its inside.
var OpenOwnerLog = openOwnerLog

const MaxLog = maxLog

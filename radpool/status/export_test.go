package status

// TopOf is topOf.
var TopOf = topOf

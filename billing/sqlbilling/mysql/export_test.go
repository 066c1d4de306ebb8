package mysql

// JSONNames packs names for JSON_TABLE.
func JSONNames(names []string) string { return jsonNames(names) }

var Holds = holds

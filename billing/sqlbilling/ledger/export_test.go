package ledger

// ModeOf and ClassPrefix are for fuzzing.
var ModeOf = modeOf

const ClassPrefix = classPrefix

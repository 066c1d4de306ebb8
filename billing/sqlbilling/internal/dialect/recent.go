package dialect

import (
	"bytes"
	"strings"
	"sync/atomic"
)

// A Recent remembers whether something was met lately: what makes each statement
// dearer is then asked for only as long as somebody needs it. The zero value has met
// nothing. Any number of goroutines may use it at once.
type Recent struct {
	names atomic.Int64 // that it is still expected for
}

// Lately reports whether it is expected to be met, and counts the names that are
// asked for now.
func (r *Recent) Lately(names int) bool {
	if r.names.Load() <= 0 {
		return false
	}
	r.names.Add(-int64(names))
	return true
}

// Met says that it was met, and is expected for so many names to come.
func (r *Recent) Met(names int64) { r.names.Store(names) }

// ProfilesFor is for how many names the groups of profiles are asked for in the
// statement of Everything after radcheck was found to name one. It is a few of them, as
// those who have none pay for that as well: on MariaDB about half a statement.
const ProfilesFor = 100

// Is reports whether a row is of the attribute of that name, in whatever case and
// with spaces around it.
func (r *Row) Is(name string) bool {
	return len(r.Attribute) >= len(name) && strings.EqualFold(string(bytes.Trim(r.Attribute, " ")), name)
}

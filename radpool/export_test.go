package radpool

import "time"

// ReaderMode is readerMode.
type ReaderMode struct{ m readerMode }

// Runs is runs.
func (m *ReaderMode) Runs(now time.Time) bool { return m.m.runs(now) }

// Ran is ran.
func (m *ReaderMode) Ran(now time.Time, took time.Duration) bool { return m.m.ran(now, took) }

// Deposed is deposed.
func (m *ReaderMode) Deposed(now time.Time) { m.m.deposed(now) }

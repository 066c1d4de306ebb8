// Package browser looks at radpool's pages as people do: its tests open them in
// Chromium, click through them, and compare what is shown with what was counted. It
// holds tests alone, and is a module of its own so that who imports radpool never sees the
// library that drives the browser.
//
//	go test .
//
// Screenshots are written into the directory RADPOOL_ARTIFACTS, or else into a
// temporary one, which the log names.
package browser

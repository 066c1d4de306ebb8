//go:build !race

package radclient_test

const raceEnabled = false

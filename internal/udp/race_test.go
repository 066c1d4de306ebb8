//go:build race

package udp_test

func init() { raceEnabled = true }

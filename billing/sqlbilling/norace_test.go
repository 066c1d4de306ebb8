//go:build !race

package sqlbilling_test

const raceDetector = false

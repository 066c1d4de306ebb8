//go:build !radpoolheap

package arena

// heapOnly is a constant, so that the switch costs nothing where it is off.
const heapOnly = false

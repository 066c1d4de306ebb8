//go:build radpoolheap

package arena

// heapOnly makes Pool.Get give nil arenas.
const heapOnly = true

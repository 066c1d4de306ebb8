//go:build !(linux && (amd64 || arm64))

package cache

// mapChunk returns nil: all segments are on the Go heap.
func mapChunk() (mapping, memory []byte) { return nil, nil }

func unmapChunk([]byte) {}

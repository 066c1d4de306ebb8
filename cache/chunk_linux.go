//go:build linux && (amd64 || arm64)

package cache

import (
	"syscall"
	"unsafe"
)

// mapChunk returns a new chunk of zeroed memory and the mapping that it is
// part of, or nil when the system refuses. Where transparent huge pages are
// switched off, the chunk is of small pages.
func mapChunk() (mapping, memory []byte) {
	// Newer kernels align a mapping of this size themselves. Elsewhere twice
	// as much is sure to hold an aligned chunk; what is around it is never
	// touched and stays mere addresses.
	for _, octets := range [...]int{chunkOctets, 2 * chunkOctets} {
		b, err := syscall.Mmap(-1, 0, octets, syscall.PROT_READ|syscall.PROT_WRITE,
			syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			return nil, nil
		}
		skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) % chunkOctets)
		if skip+chunkOctets <= octets {
			memory = b[skip:][:chunkOctets:chunkOctets]
			// An error means a kernel without huge pages: small ones do.
			_ = syscall.Madvise(memory, syscall.MADV_HUGEPAGE)
			return b, memory
		}
		unmapChunk(b)
	}
	return nil, nil
}

func unmapChunk(mapping []byte) {
	if err := syscall.Munmap(mapping); err != nil {
		panic("cache: memory is not what mapChunk returned: " + err.Error())
	}
}

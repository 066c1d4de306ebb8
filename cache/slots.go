package cache

import "math/bits"

// none is the number of no slot.
const none uint32 = 0

// slots hands out numbered slots that live in segments, and says when a
// segment is needed and when its memory can go. It always gives the lowest
// free slot, so that after a storm the upper segments empty and are given
// back, and what is live moves together.
type slots struct {
	width int      // slots a segment, at most 64
	free  []uint64 // for each segment, a bit for each free slot
	open  bitset   // the segments that have a free slot
	spare int      // an empty segment kept against flapping, plus 1; 0: none
}

// whole is the mask of a segment whose slots are all free.
func (s *slots) whole() uint64 { return 1<<s.width - 1 }

// take returns a free slot. Its segment may have no memory yet.
func (s *slots) take() uint32 {
	segment := s.open.first()
	if segment < 0 {
		segment = len(s.free)
		s.free = append(s.free, s.whole())
		s.open.grow(len(s.free))
		s.open.set(segment)
	}
	if s.spare == segment+1 {
		s.spare = 0
	}
	mask := s.free[segment]
	slot := bits.TrailingZeros64(mask)
	mask &= mask - 1
	s.free[segment] = mask
	if mask == 0 {
		s.open.clear(segment)
	}
	return uint32(segment*s.width+slot) + 1
}

// put gives a slot back. When it was the last of its segment, put may
// return a segment whose memory is to be released; otherwise -1.
func (s *slots) put(id uint32) (release int) {
	segment, slot := s.locate(id)
	if s.free[segment] == 0 {
		s.open.set(segment)
	}
	s.free[segment] |= 1 << slot
	if s.free[segment] != s.whole() {
		if s.spare-1 > segment && s.roomy(segment) {
			release, s.spare = s.spare-1, 0
			return release
		}
		return -1
	}
	if s.spare == 0 {
		if lowest := s.open.first(); lowest < segment && s.roomy(lowest) {
			return segment
		}
		s.spare = segment + 1
		return -1
	}
	release = max(s.spare-1, segment)
	s.spare = min(s.spare-1, segment) + 1
	return release
}

// trim gives up the empty segment that is kept, unless all below it are full.
// It returns that segment, or -1.
func (s *slots) trim() (release int) {
	if s.spare == 0 || s.open.first() == s.spare-1 {
		return -1
	}
	release, s.spare = s.spare-1, 0
	return release
}

// roomy tells whether a segment has so much room that an empty one above it is
// no protection against flapping, only memory that would stay for long.
func (s *slots) roomy(segment int) bool {
	return bits.OnesCount64(s.free[segment]) >= s.width/4
}

// locate returns the segment and the place in it of a slot.
func (s *slots) locate(id uint32) (segment, slot int) {
	i := int(id - 1)
	return i / s.width, i % s.width
}

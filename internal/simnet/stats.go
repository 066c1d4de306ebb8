package simnet

// Stats counts datagrams since the network was made. Every datagram sent, and every second copy, ends in
// exactly one place:
//
//	Sent + Duplicated = Delivered + Lost + Overflowed + Unreachable + InFlight
type Stats struct {
	Sent        uint64 // written to a socket without an error
	Delivered   uint64 // put into a receive buffer, whether or not they were read
	Lost        uint64 // vanished by Config.Loss
	Duplicated  uint64 // second copies made by Config.Duplicate
	Reordered   uint64 // among Delivered: arrived after one sent later to the same socket
	Overflowed  uint64 // met a full receive buffer, or a network with Config.InFlight on their way
	Unreachable uint64 // found no socket at their destination
	InFlight    uint64 // on their way now
}

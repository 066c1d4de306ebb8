package radpool

import (
	"net/netip"

	"layeh.com/radius"
)

// Hooks are functions that a [Server] calls when something happens. Any may be
// nil. They are called from readers and workers, many at once, with no lock
// held. They must not block, since what is slow in them slows the requests behind,
// nor end their goroutine (runtime.Goexit, as t.FailNow does). A panic in one is
// recovered and counted.
type Hooks struct {
	// Drop is called for each datagram that ends without an answer: with any
	// Outcome but StatusServer, Replayed, Replied and Unanswered.
	Drop func(DropInfo)

	// SocketDrop is called once a second for each socket of which the system has
	// dropped datagrams meanwhile (see Stats.SocketDrops).
	SocketDrop func(SocketDropInfo)

	// Panic is called for a Handler that has panicked.
	Panic func(PanicInfo)

	// WorkerStart and WorkerStop are called by a worker before its first request
	// and after its last. id tells it from the others that live at the time.
	WorkerStart func(id int)
	WorkerStop  func(id int)
}

// DropInfo says what was dropped and why.
type DropInfo struct {
	Outcome    Outcome
	Detail     string // what was wrong, in words; may be empty
	RemoteAddr netip.AddrPort
	Client     *Client     // nil when it is not known
	Code       radius.Code // 0 when the datagram is malformed
	Identifier byte
	Err        error // what the Handler failed with
}

// PanicInfo says what a Handler has panicked with.
type PanicInfo struct {
	Value any
	Stack []byte
}

// Package udp reads and writes datagrams in batches.
//
// [New] makes a [Conn] of any [net.PacketConn]. On Linux a [*net.UDPConn] is read with recvmmsg(2) and written
// with sendmmsg(2), many datagrams a system call, while the runtime's poller does the waiting; everywhere
// else, and for other kinds of sockets, one datagram is read or written at a time through the socket's own
// methods. Callers see no difference but the number of datagrams they get at once, and that on Linux a socket
// bound to a wildcard address says which of the host's addresses a datagram was sent to ([Message.Local]) and
// can answer from it: NASes drop a reply that comes from another address than the one they asked.
//
// A server's socket outlives its clients' troubles. Errors that tell of one datagram (an ICMP message about
// one sent before, a datagram too long for its route) never end a batch: reading goes on, and
// writing goes on with the next message.
package udp

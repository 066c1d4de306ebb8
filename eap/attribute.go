package eap

// MaxFragment is the most octets of one EAP-Message.
const MaxFragment = 253

// Fragments calls add with the values of the EAP-Message attributes that carry a
// packet, in order (RFC 3579 section 3.1). They lie in packet.
func Fragments(packet []byte, add func(value []byte)) {
	for len(packet) > 0 {
		n := min(len(packet), MaxFragment)
		add(packet[:n:n])
		packet = packet[n:]
	}
}

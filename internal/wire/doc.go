// Package wire is the RADIUS packet codec of the server: it judges the shape of
// a datagram, verifies and computes authenticators, decodes into memory of the
// request's arena and encodes replies. On the way of a request nothing in it
// allocates from the heap, and nothing in it keeps state, reads a clock or
// starts a goroutine: every function may be called from any goroutine, as long
// as nobody writes the memory that it was given.
//
// A request passes through it in this order:
//
//	shape, fault := wire.Parse(b, 200)                 // shape; no secret needed
//	ok := wire.Verify(b, &shape, secret)               // before any state changes
//	wire.Decode(a, b, &shape, &packet)                 // for the handler
//	reply, err := wire.Encode(dst, &response, b, &shape, secret)
//
// # Memory
//
// The datagram stays the caller's. Verify leaves it as it was. The values of
// decoded attributes alias it, except those of Proxy-State, which are copies:
// a handler that edits attributes in place can therefore edit neither the
// header nor the Proxy-States that Encode takes from the datagram for the
// reply. The capacity of a value ends where the value ends, so that append
// moves it instead of running into the next attribute.
//
// # Which rule is where
//
//   - RFC 2865 section 3 (codes, Length, padding after Length is ignored, Response
//     Authenticator): [Parse], [Encode], [VerifyResponse]
//   - RFC 2865 section 5 (attribute layout, order kept): [Parse], [Decode], [Encode]
//   - RFC 2865 section 5.2 (User-Password): [HidePassword], [RevealPassword]
//   - RFC 2865 section 5.26 (attributes of a vendor): [VendorAttributes]
//   - RFC 2865 section 5.33 (Proxy-State returned unmodified and in order): [Encode]
//   - RFC 2866 section 3 (Request Authenticator of Accounting-Request): [Verify],
//     [EncodeRequest]
//   - RFC 2866 section 5.1 (Acct-Status-Type, for classing): [Parse]
//   - RFC 2869 section 5.14, restated in RFC 3579 section 3.2
//     (Message-Authenticator, HMAC-MD5 with the attribute zeroed): [Verify],
//     [Encode], [EncodeRequest], [VerifyResponse]
//   - RFC 2869 section 5.13, RFC 3579 section 3.1 (EAP-Message requires
//     Message-Authenticator): [Shape.RequiresMessageAuthenticator], [Verify]
//   - RFC 3579 section 3.3, note 1 (EAP-Message excludes User-Password,
//     CHAP-Password and ARAP-Password): [Parse]
//   - RFC 5176 sections 2.3 and 3.4 (CoA and Disconnect requests and their
//     replies): [Verify], [Encode], [EncodeRequest]
//   - RFC 5997 section 3 (Status-Server requires Message-Authenticator, and is
//     answered by Access-Accept or Accounting-Response): [Verify], [Encode]
//   - RFC 7930 section 4 (Protocol-Error as a reply): [CodeProtocolError], [Encode]
//   - Message-Authenticator first in every reply to Access-Request and
//     Status-Server (CVE-2024-3596, BlastRADIUS): [Encode]
//
// What is policy is not here: whether this client must send a
// Message-Authenticator, whether Proxy-State without one is tolerated, which
// codes a port accepts. [Shape] tells the server what it needs to decide.
//
// # MD5 and FIPS 140-3
//
// RADIUS is built on MD5, which this package takes from crypto/md5. With
// GODEBUG=fips140=on it works unchanged; with fips140=only the standard library
// forbids MD5 altogether and [NewSecret] panics with its message.
package wire

package wire

import "layeh.com/radius"

// CodeProtocolError is the packet code of Protocol-Error, a reply to any request
// (RFC 7930 section 4).
const CodeProtocolError radius.Code = 52

// knownCode reports whether c is assigned to a packet that RADIUS servers and
// clients exchange. Everything else is counted as malformed: a server has no
// business answering it.
func knownCode(c byte) bool {
	switch radius.Code(c) {
	case radius.CodeAccessRequest, radius.CodeAccessAccept, radius.CodeAccessReject,
		radius.CodeAccountingRequest, radius.CodeAccountingResponse,
		radius.CodeAccessChallenge, radius.CodeStatusServer, radius.CodeStatusClient,
		radius.CodeDisconnectRequest, radius.CodeDisconnectACK, radius.CodeDisconnectNAK,
		radius.CodeCoARequest, radius.CodeCoAACK, radius.CodeCoANAK, CodeProtocolError:
		return true
	default:
		return false
	}
}

// signedRequest reports whether requests of code c carry an MD5 signature as
// their Request Authenticator, rather than a random number (RFC 2866 section 3,
// RFC 5176 section 2.3).
func signedRequest(c radius.Code) bool {
	switch c {
	case radius.CodeAccountingRequest, radius.CodeDisconnectRequest, radius.CodeCoARequest:
		return true
	default:
		return false
	}
}

// randomRequest reports whether requests of code c carry a random number as their
// Request Authenticator (RFC 2865 section 3, RFC 5997 section 3).
func randomRequest(c radius.Code) bool {
	return c == radius.CodeAccessRequest || c == radius.CodeStatusServer
}

// IsRequest reports whether c is the code of a request that can be verified and answered.
func IsRequest(c radius.Code) bool { return randomRequest(c) || signedRequest(c) }

// Answers reports whether reply is a code that a request of that code may be
// answered with.
func Answers(request, reply radius.Code) bool {
	if reply == CodeProtocolError {
		return randomRequest(request) || signedRequest(request)
	}
	switch request {
	case radius.CodeAccessRequest:
		return reply == radius.CodeAccessAccept || reply == radius.CodeAccessReject ||
			reply == radius.CodeAccessChallenge
	case radius.CodeStatusServer:
		return reply == radius.CodeAccessAccept || reply == radius.CodeAccountingResponse
	case radius.CodeAccountingRequest:
		return reply == radius.CodeAccountingResponse
	case radius.CodeDisconnectRequest:
		return reply == radius.CodeDisconnectACK || reply == radius.CodeDisconnectNAK
	case radius.CodeCoARequest:
		return reply == radius.CodeCoAACK || reply == radius.CodeCoANAK
	default:
		return false
	}
}

// isReply reports whether c is the code of a reply.
func isReply(c radius.Code) bool {
	switch c {
	case radius.CodeAccessAccept, radius.CodeAccessReject, radius.CodeAccessChallenge,
		radius.CodeAccountingResponse, radius.CodeDisconnectACK, radius.CodeDisconnectNAK,
		radius.CodeCoAACK, radius.CodeCoANAK, CodeProtocolError:
		return true
	default:
		return false
	}
}

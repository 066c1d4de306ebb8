// Package trace prints requests, what was decided, and the replies, as those who debug
// with radiusd -X are used to. It is for finding out, not for every day: all that it
// prints is made in the worker that answers.
//
//	(7) 2026-08-01T10:00:00.000Z Access-Request Id 12 from 192.0.2.1:40000 to 192.0.2.2:1812 (nas1)
//	(7)   User-Name = "ivan"
//	(7)   User-Password = <<< secret >>>
//	(7)   NAS-Port-Type = Ethernet
//	(7) accepted (PAP; Cleartext-Password)
//	(7) Access-Accept Id 12 to 192.0.2.1:40000 after 1.2ms
//	(7)   Framed-IP-Address = 10.0.0.7
//
// The line between request and reply is the Handler's [radpool.Response.SetReason]:
// package billing says what decided. All lines of one request are one Write, whatever
// else runs at the same time.
//
// No password is printed, nor what one could be guessed from: see [Tracer].
package trace

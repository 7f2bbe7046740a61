// Package failpoint marks points in the code at which tests kill the process, and traces calls that must not be
// made twice. In a program that was built without the tag "failpoints" its functions do nothing.
//
// With the tag, the environment variable INNSIGLI_FAILPOINT names the point at which the process kills itself with
// SIGKILL, which simulates a crash of the machine. INNSIGLI_TRACE names a file to which each traced call appends a
// line when it begins, when it returns, and when the transaction that stores its result was committed. Several
// processes may use one file:
//
//	NAME ID call PID TIME
//	NAME ID return PID OUTCOME TIME
//	NAME ID stored PID TIME
//
// TIME is in milliseconds of Unix time. A call whose process was killed between "return" and "stored" may be
// repeated.
package failpoint

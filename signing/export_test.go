package signing

import "context"

// LeaveRoomForLargeXML takes all but so many bytes of the memory that large XML documents share, so that tests can fill
// the rest with small documents.
func (s *Service) LeaveRoomForLargeXML(bytes int64) error {
	return s.xml.large.Acquire(context.Background(), largeXMLAtOnce-bytes)
}

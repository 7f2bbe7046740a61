package signing

import "context"

// LeaveRoomForLargeXML leaves so many bytes of the room that large XML has, so that small documents can show what
// happens where there is none.
func (s *Service) LeaveRoomForLargeXML(bytes int64) error {
	return s.xml.large.Acquire(context.Background(), largeXMLAtOnce-bytes)
}

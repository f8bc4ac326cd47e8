// As Apple's module does: a policy that imports it alone has UUID, Date and the rest.
@_exported import Foundation

/// Authors import HelperKit: what they use of the client, of its scope and of pages comes along. The logins are in PageLogin.
@_exported import BoundHTTP
@_exported import PortalPages

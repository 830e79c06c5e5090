/// Authors import only HelperKit, so it re-exports the client, its scope and pages. The logins are in PageLogin.
@_exported import BoundHTTP
@_exported import PortalPages

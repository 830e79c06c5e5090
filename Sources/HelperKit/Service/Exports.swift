/// Authors only import HelperKit: this also gives them the client, its scope and pages. The logins are in PageLogin.
@_exported import BoundHTTP
@_exported import PortalPages

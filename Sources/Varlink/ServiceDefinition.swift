/// The text of org.varlink.service, the protocol's own interface, for introspection; from the Varlink documentation.
public let serviceDefinition = """
    # The Varlink Service Interface is provided by every varlink service.
    interface org.varlink.service

    method GetInfo() -> (vendor: string, product: string, version: string, url: string, interfaces: []string)

    method GetInterfaceDescription(interface: string) -> (description: string)

    error InterfaceNotFound (interface: string)
    error MethodNotFound (method: string)
    error MethodNotImplemented (method: string)
    error InvalidParameter (parameter: string)
    error PermissionDenied ()
    error ExpectedMore ()
    """

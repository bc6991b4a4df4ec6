import { Protocol } from '@modelcontextprotocol/sdk/shared/protocol.js'

/** The core of the official SDK without its MCP layer: plain JSON-RPC, no capabilities. */
export class BareProtocol extends Protocol {
  assertCapabilityForMethod() {}
  assertNotificationCapability() {}
  assertRequestHandlerCapability() {}
  assertTaskCapability() {}
  assertTaskHandlerCapability() {}
}

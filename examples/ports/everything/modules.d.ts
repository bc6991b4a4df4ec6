// The module of the published server with its image has no types.

declare module '@modelcontextprotocol/server-everything/dist/tools/get-tiny-image.js' {
  export const MCP_TINY_IMAGE: string
}

/** One exchange of the examples page of the JSON-RPC 2.0 specification, section 7. */
export interface Example {
  readonly name: string
  /** The client's message, as on the page. */
  readonly sent: string
  /** The server's response, as on the page; undefined for none. */
  readonly answered?: string
}

export const examples: readonly Example[] = [
  {
    name: 'rpc call with positional parameters, 1',
    sent: '{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}',
    answered: '{"jsonrpc": "2.0", "result": 19, "id": 1}',
  },
  {
    name: 'rpc call with positional parameters, 2',
    sent: '{"jsonrpc": "2.0", "method": "subtract", "params": [23, 42], "id": 2}',
    answered: '{"jsonrpc": "2.0", "result": -19, "id": 2}',
  },
  {
    name: 'rpc call with named parameters, 1',
    sent: '{"jsonrpc": "2.0", "method": "subtract", "params": {"subtrahend": 23, "minuend": 42}, "id": 3}',
    answered: '{"jsonrpc": "2.0", "result": 19, "id": 3}',
  },
  {
    name: 'rpc call with named parameters, 2',
    sent: '{"jsonrpc": "2.0", "method": "subtract", "params": {"minuend": 42, "subtrahend": 23}, "id": 4}',
    answered: '{"jsonrpc": "2.0", "result": 19, "id": 4}',
  },
  {
    name: 'a Notification, 1',
    sent: '{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}',
  },
  {
    name: 'a Notification, 2',
    sent: '{"jsonrpc": "2.0", "method": "foobar"}',
  },
  {
    name: 'rpc call of non-existent method',
    sent: '{"jsonrpc": "2.0", "method": "foobar", "id": "1"}',
    answered:
      '{"jsonrpc": "2.0", "error": {"code": -32601, "message": "Method not found"}, "id": "1"}',
  },
  {
    name: 'rpc call with invalid JSON',
    sent: '{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]',
    answered: '{"jsonrpc": "2.0", "error": {"code": -32700, "message": "Parse error"}, "id": null}',
  },
  {
    name: 'rpc call with invalid Request object',
    sent: '{"jsonrpc": "2.0", "method": 1, "params": "bar"}',
    answered:
      '{"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid Request"}, "id": null}',
  },
  {
    name: 'rpc call Batch, invalid JSON',
    sent: `[
  {"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},
  {"jsonrpc": "2.0", "method"
]`,
    answered: '{"jsonrpc": "2.0", "error": {"code": -32700, "message": "Parse error"}, "id": null}',
  },
  {
    name: 'rpc call with an empty Array',
    sent: '[]',
    answered:
      '{"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid Request"}, "id": null}',
  },
  {
    name: 'rpc call with an invalid Batch (but not empty)',
    sent: '[1]',
    answered: `[
  {"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid Request"}, "id": null}
]`,
  },
  {
    name: 'rpc call with invalid Batch',
    sent: '[1,2,3]',
    answered: `[
  {"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid Request"}, "id": null},
  {"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid Request"}, "id": null},
  {"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid Request"}, "id": null}
]`,
  },
  {
    name: 'rpc call Batch',
    sent: `[
        {"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},
        {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]},
        {"jsonrpc": "2.0", "method": "subtract", "params": [42,23], "id": "2"},
        {"foo": "boo"},
        {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"},
        {"jsonrpc": "2.0", "method": "get_data", "id": "9"} 
    ]`,
    answered: `[
        {"jsonrpc": "2.0", "result": 7, "id": "1"},
        {"jsonrpc": "2.0", "result": 19, "id": "2"},
        {"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid Request"}, "id": null},
        {"jsonrpc": "2.0", "error": {"code": -32601, "message": "Method not found"}, "id": "5"},
        {"jsonrpc": "2.0", "result": ["hello", 5], "id": "9"}
    ]`,
  },
  {
    name: 'rpc call Batch (all notifications)',
    sent: `[
        {"jsonrpc": "2.0", "method": "notify_sum", "params": [1,2,4]},
        {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]}
    ]`,
  },
]

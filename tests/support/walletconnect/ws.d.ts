// The parts of ws that the relay of the tests uses; the package brings no types.
declare module 'ws' {
  import type { IncomingMessage, Server } from 'node:http'

  export class WebSocket {
    send(text: string): void
    close(code?: number, reason?: string): void
    terminate(): void
    on(event: 'message', listener: (data: Buffer) => void): this
    on(event: 'close', listener: () => void): this
  }

  export class WebSocketServer {
    constructor(options: { server: Server })
    readonly clients: ReadonlySet<WebSocket>
    on(event: 'connection', listener: (socket: WebSocket, request: IncomingMessage) => void): this
    close(): void
  }
}

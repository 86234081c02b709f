// The parts of the Workers runtime that the functions use. The runtime provides the modules.
declare module 'cloudflare:workers' {
  export abstract class WorkerEntrypoint<Bindings> {
    protected readonly env: Bindings
    protected readonly ctx: { waitUntil(work: Promise<void>): void }
    fetch?(request: Request): Response | Promise<Response>
    scheduled?(): Promise<void>
  }
}

declare module 'cloudflare:sockets' {
  export function connect(
    address: { hostname: string; port: number },
    options: { secureTransport: 'on' | 'off'; allowHalfOpen: boolean },
  ): {
    readable: ReadableStream<Uint8Array>
    writable: WritableStream<Uint8Array>
    close(): Promise<void>
  }
}

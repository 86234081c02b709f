// The package is not installed with the repository; this declares the part of it that is used.
declare module 'x402-hono' {
  import type { MiddlewareHandler } from 'hono'

  type Route = { price: string; network: string; config?: { description?: string } }

  export function paymentMiddleware(
    payTo: string,
    routes: Record<string, Route>,
    facilitator: { url: string },
  ): MiddlewareHandler
}

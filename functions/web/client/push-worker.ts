// Shows the pushes that this browser receives, and opens the page that one leads to. It keeps nothing, and pages do
// not go through it.
type Message = { title: string; body: string; tag: string; url: string }
type Pushed = Event & { data: { json(): Message } | null; waitUntil(work: Promise<unknown>): void }
type Clicked = Pushed & { notification: Notification }
declare const registration: ServiceWorkerRegistration
declare const clients: { openWindow(url: string): Promise<unknown> }

const nothing: Message = { title: 'Agent Operating Account', body: '', tag: '', url: '/web' }

addEventListener('push', (event) => {
  const pushed = event as Pushed
  // Only this service has the keys with which a push for this browser can be made.
  const { title, body, tag, url } = pushed.data?.json() ?? nothing
  pushed.waitUntil(registration.showNotification(title, { body, tag, data: url }))
})

addEventListener('notificationclick', (event) => {
  const clicked = event as Clicked
  clicked.notification.close()
  const url = new URL(String(clicked.notification.data), location.href)
  if (url.origin === location.origin) clicked.waitUntil(clients.openWindow(url.href))
})

export {}

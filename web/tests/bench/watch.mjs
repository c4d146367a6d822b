// What is run inside the page to tell when something is on the screen. Sent as text: the page's own policy lets no foreign
// script in, and what is evaluated through the debugger needs no leave.

/**
 * Notes at window.contentSeen.at_ms when the page's main content came to be there: a heading, no loader, no chart that is
 * yet to be drawn. In milliseconds since the navigation began, at the end of the frame that shows it; null while it is not
 * there, so that content which gives way to another loader does not count.
 */
export function watchContent() {
  const seen = { at_ms: null, blocked_ms: 0 }
  window.contentSeen = seen
  let isChanged = true
  let isThere = false
  new window.MutationObserver(() => {
    isChanged = true
  }).observe(document, { childList: true, subtree: true })
  new window.PerformanceObserver((list) => {
    for (const task of list.getEntries()) seen.blocked_ms += task.duration
  }).observe({ type: 'longtask', buffered: true })
  function look() {
    window.requestAnimationFrame(look)
    if (!isChanged) return
    isChanged = false
    const main = document.querySelector('main')
    const is = Boolean(main?.querySelector('h1')) && !main.querySelector('p[role=status].dim, div[role=img]:empty')
    if (is === isThere) return
    isThere = is
    seen.at_ms = null
    // A message comes after the frame has been painted.
    if (is) {
      const { port1, port2 } = new window.MessageChannel()
      port1.onmessage = () => {
        if (isThere) seen.at_ms = window.performance.now()
      }
      port2.postMessage(null)
    }
  }
  window.requestAnimationFrame(look)
}

/**
 * Waits for the next click or key and notes at window.interaction how long it took from that event to the end of the first
 * frame for which isShown(before) holds, `before` being what before() gave ahead of the event; and what the browser itself
 * says of it (Event Timing, the measure behind INP).
 */
export function watchInteraction({ before, isShown, events }) {
  const noted = { frame_ms: null, event_timing_ms: 0 }
  window.interaction = noted
  const earlier = before()
  const observer = new window.PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (entry.interactionId) noted.event_timing_ms = Math.max(noted.event_timing_ms, entry.duration)
  })
  observer.observe({ type: 'event', durationThreshold: 16 })
  function begin(event) {
    for (const type of events) window.removeEventListener(type, begin, true)
    window.requestAnimationFrame(function look() {
      if (!isShown(earlier)) return window.requestAnimationFrame(look)
      const { port1, port2 } = new window.MessageChannel()
      port1.onmessage = () => {
        noted.frame_ms = window.performance.now() - event.timeStamp
      }
      port2.postMessage(null)
    })
  }
  for (const type of events) window.addEventListener(type, begin, true)
}

/** Acts as soon as what has changed on the page until now has been drawn. */
export function afterNextFrame(act: () => unknown): void {
  // What a frame asks for comes before it is drawn, a timer after.
  requestAnimationFrame(() => setTimeout(() => void act(), 0))
}

// What Mantine asks of a browser and jsdom lacks.
import { vi } from 'vitest'

vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }))
vi.stubGlobal('ResizeObserver', class { observe() { return undefined } unobserve() { return undefined } disconnect() { return undefined } })

import { shellZh } from '../app/shell/text.zh'
import { centersZh } from '../features/centers/text.zh'
import { identityZh } from '../features/identity/text.zh'
import { jobsZh } from '../features/jobs/text.zh'
import { overviewZh } from '../features/overview/text.zh'
import { manageZh } from './manage_zh'
import { measureZh } from './measure_zh'
import { submitZh } from '../features/submit/text.zh'
import { uiZh } from '../ui/text.zh'
import type { Dictionary } from './en'

export const zh: Dictionary = { ...shellZh, ...uiZh, ...measureZh, ...manageZh, ...identityZh, ...overviewZh, ...jobsZh, ...submitZh, ...centersZh }

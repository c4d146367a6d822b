// English is where the keys come from: every feature's texts together. A key that another language lacks does not compile.
import { shellEn } from '../app/shell/text.en'
import { centersEn } from '../features/centers/text.en'
import { identityEn } from '../features/identity/text.en'
import { jobsEn } from '../features/jobs/text.en'
import { overviewEn } from '../features/overview/text.en'
import { manageEn } from './manage_en'
import { measureEn } from './measure_en'
import { submitEn } from '../features/submit/text.en'
import { uiEn } from '../ui/text.en'

export const en = { ...shellEn, ...uiEn, ...measureEn, ...manageEn, ...identityEn, ...overviewEn, ...jobsEn, ...submitEn, ...centersEn }

export type TextKey = keyof typeof en
export type Dictionary = Record<TextKey, string>

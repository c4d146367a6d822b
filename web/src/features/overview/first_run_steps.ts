/** What is known of a network that is perhaps new. */
export interface Beginnings {
  onlineCenterCount: number
  /** Whether any probe has succeeded. */
  isMeasured: boolean
  /** Whether a job that the reader may see has ended. */
  hasEndedJob: boolean
}

export interface FirstRunStep {
  id: 'enrol' | 'measure' | 'submit'
  isDone: boolean
}

/** Only among so many centers is there something to choose. */
export const centersForChoice = 2

/** The steps from an empty network to the first job whose run time was predicted, in order, each with whether it is done. */
export function firstRunSteps({ onlineCenterCount, isMeasured, hasEndedJob }: Beginnings): FirstRunStep[] {
  return [
    { id: 'enrol', isDone: onlineCenterCount >= centersForChoice }, { id: 'measure', isDone: isMeasured }, { id: 'submit', isDone: hasEndedJob }]
}

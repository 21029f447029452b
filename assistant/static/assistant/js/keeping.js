// Keeps a question over a sign-in: in this tab only, until it was answered.

const PLACE = "larkfield.question";

export const keep = (question) => sessionStorage.setItem(PLACE, question);
export const kept = () => sessionStorage.getItem(PLACE);
export const forget = () => sessionStorage.removeItem(PLACE);

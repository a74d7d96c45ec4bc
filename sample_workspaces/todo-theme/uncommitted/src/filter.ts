import { categories, type Category, type Todo } from "./todo.js";

/** The chosen category; null shows every to-do. */
export type Choice = Category | null;

export function visible(todos: readonly Todo[], choice: Choice): Todo[] {
  return todos.filter((todo) => choice === null || todo.category === choice);
}

/** One button a category and one for all; `pick` hears which was pressed. */
export function filterBar(pick: (choice: Choice) => void): HTMLElement {
  const bar = document.createElement("nav");
  bar.className = "filter";
  for (const name of ["all", ...categories] as Choice[]) {
    const button = document.createElement("button");
    button.textContent = name;
    button.addEventListener("click", () => pick(name === "all" ? null : name));
    bar.append(button);
  }
  return bar;
}

import type { Todo } from "./todo.js";

const todos: Todo[] = [
  { id: 1, text: "Water the tomatoes", category: "home", done: false },
  { id: 2, text: "Send the invoice to the printer", category: "work", done: false },
  { id: 3, text: "Fetch the parcel", category: "errands", done: true },
];

function row(todo: Todo): HTMLElement {
  const item = document.createElement("li");
  item.textContent = todo.text;
  item.classList.toggle("done", todo.done);
  return item;
}

const list = document.createElement("ul");
list.replaceChildren(...todos.map(row));
document.querySelector("main")?.append(list);

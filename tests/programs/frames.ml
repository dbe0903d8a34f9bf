(* Allocates, so that memory is collected at any depth; calls C, is called by it, raises through it,
   and overflows its stack. *)
external sum_of : float array -> float = "prim_sum"
external add : (int[@untagged]) -> (int[@untagged]) -> (int[@untagged])
  = "prim_add_byte" "prim_add" [@@noalloc]
external calls_back : (int -> int) -> int -> int = "prim_calls_back"

exception Found of int

let rec build n = if n = 0 then [] else string_of_int n :: build (n - 1)
let rec deep n = 1 + deep (n + 1)

let find strings =
  let look s = if String.length s > 4 then raise (Found (int_of_string s)) in
  try List.iter look strings; 0 with Found n -> n

let () =
  let total = ref 0 in
  for i = 1 to 300 do
    let strings = build (i * 10) in
    total := add !total (List.length strings);
    total := !total + find strings;
    total := !total + int_of_float (sum_of (Array.init 10 float_of_int));
    total := !total + calls_back (fun n -> List.length (build n)) 20;
    if i mod 100 = 0 then Gc.compact ()
  done;
  (try total := !total + calls_back (fun n -> if n > 5 then raise Not_found else n) 7
   with Not_found -> incr total);
  (try total := !total + deep 0 with Stack_overflow -> total := !total + 7);
  Printf.printf "%d %d\n" !total (Hashtbl.hash (build 10))
